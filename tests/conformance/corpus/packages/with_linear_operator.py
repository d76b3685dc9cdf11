import torch
from linear_operator import operators, settings

a = torch.randn(6, 6)
matrix = operators.DenseLinearOperator(a @ a.T + 6 * torch.eye(6))
print(matrix.solve(torch.ones(6, 1)), matrix.logdet(), matrix.cholesky().to_dense().norm())
kronecker = operators.KroneckerProductLinearOperator(
    matrix, operators.DiagLinearOperator(torch.ones(3))
)
with settings.max_cg_iterations(20):
    print((kronecker @ torch.ones(18, 1)).sum())
