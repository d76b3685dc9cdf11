import numpy as np
from imode.ops.schema import op, ufunc, conj
V="function method inplace out"
def O(s,u,d=None,**k):
    op(s,ufunc(u,**k),derivative=d,differentiable=d is not None,variants=V)
B="(Tensor self, Tensor|Scalar other) -> Tensor"
op("add(Tensor self, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor", ufunc(np.add, otherwise=lambda s,o,alpha: s+o*alpha), derivative={"self": lambda grad: grad, "other": lambda grad, alpha: grad*alpha}, variants=V)
op("sub(Tensor self, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor", ufunc(np.subtract, otherwise=lambda s,o,alpha: s-o*alpha), derivative={"self": lambda grad: grad, "other": lambda grad, alpha: grad*-alpha}, variants=V)
op("rsub(Tensor self, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor", lambda s,o,alpha: o-s*alpha, derivative={"self": lambda grad,alpha: grad*-alpha, "other": lambda grad: grad}, variants=V)
O("mul"+B,np.multiply,{"self": lambda grad, other: grad*conj(other), "other": lambda grad, self: grad*conj(self)})
O("div"+B,np.true_divide,{"self": lambda grad, other: grad/conj(other), "other": lambda grad, self,other: -grad*conj(self/other/other)},ints="float")
O("floor_divide"+B,np.floor_divide); O("remainder"+B,np.remainder,{"self":lambda grad:grad})
op("remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", ufunc(np.remainder),differentiable=False)
O("pow(Tensor self, Tensor|Scalar exponent) -> Tensor",np.power,{"self":lambda grad,self,exponent: grad*exponent*self.pow(exponent-1)})
op("pow.Scalar(Scalar self, Tensor exponent) -> Tensor", ufunc(np.power),differentiable=False)
for n,u in dict(eq=np.equal,ne=np.not_equal,lt=np.less,le=np.less_equal,gt=np.greater,ge=np.greater_equal,bitwise_and=np.bitwise_and,bitwise_or=np.bitwise_or,bitwise_xor=np.bitwise_xor,bitwise_left_shift=np.left_shift,bitwise_right_shift=np.right_shift).items(): O(n+B,u)
U="(Tensor self) -> Tensor"
O("neg"+U,np.negative,{"self":lambda grad:-grad});O("abs"+U,np.absolute,{"self":lambda grad,self:grad*self.sign()});O("bitwise_not"+U,np.invert);O("reciprocal"+U,np.reciprocal,{"self":lambda grad,result:-grad*result*result},ints="float")
O("exp"+U,np.exp,{"self":lambda grad,result:grad*result},ints="float");O("tanh"+U,np.tanh,{"self":lambda grad,result:grad*(1-result*result)},ints="float");O("sign"+U,np.sign)
O("sin"+U,np.sin,{"self":lambda grad,self:grad*self.cos()},ints="float");O("cos"+U,np.cos,{"self":lambda grad,self:-grad*self.sin()},ints="float")
import imode.ops.schema as sch
if 'sum' not in sch.published():
  op("sum(Tensor self) -> Tensor", lambda a: a.sum(), derivative={"self": lambda grad, self_shape: grad.expand(self_shape)})
  op("sum.dim(Tensor self, int[] dim, bool keepdim=False) -> Tensor", lambda a,d,k: a.sum(d,keepdims=k), derivative={"self": lambda grad, self_shape,dim,keepdim: (grad if keepdim else grad.unsqueeze(dim[0])).expand(self_shape)})
if 'matmul' not in sch.published():
  op("matmul(Tensor self, Tensor other) -> Tensor", np.matmul, derivative={"self": lambda grad,other: grad@other.transpose(-1,-2),"other": lambda grad,self: self.transpose(-1,-2)@grad})
