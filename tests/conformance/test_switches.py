"""Switches, autocast and names that scripts ask for, beside PyTorch's: values and exceptions."""

import warnings

import numpy as np
import pytest

from .side_by_side import agrees, error

NO = [
    "cuda.is_bf16_supported()",
    "cuda.current_device()",
    "cuda.get_device_name(0)",
    "cuda.memory_stats()",
    "cuda.get_device_properties(0)",
    "cuda.set_device(-1)",
    "cuda.set_device('cpu')",
    "cuda.memory_allocated()",
    "cuda.max_memory_allocated()",
    "cuda.memory_reserved()",
    "cuda.mem_get_info()",
    "cuda.ipc_collect()",
    "cuda.init()",
    "cuda.get_rng_state()",
    "cuda.get_rng_state_all()",
    "cuda.initial_seed()",
    "cuda.seed()",
    "cuda.get_arch_list()",
    "cuda.get_gencode_flags()",
    "cuda.current_stream()",
    "cuda.Stream()",
    "cuda.Event()",
    "cuda.CUDAGraph()",
    "cuda.device(0).__enter__()",
    "cuda.has_half",
    "cuda.has_magma",
    "cuda.default_generators",
    "OutOfMemoryError.__mro__[1]",
    "accelerator.is_available()",
    "accelerator.current_accelerator()",
    "accelerator.device_count()",
    "accelerator.synchronize()",
    "accelerator.current_stream()",
    "accelerator.memory_allocated()",
    "mps.is_available()",
    "mps.device_count()",
    "mps.empty_cache()",
    "mps.synchronize()",
    "mps.manual_seed(0)",
    "mps.current_allocated_memory()",
    "xpu.is_available()",
    "xpu.device_count()",
    "xpu.empty_cache()",
    "xpu.synchronize()",
    "xpu.current_device()",
    "xpu.memory_allocated()",
    "cpu.is_available()",
    "cpu.device_count()",
    "cpu.current_device()",
    "cpu.synchronize()",
    "cpu.is_initialized()",
    "backends.cudnn.is_available()",
    "backends.cudnn.version()",
    "backends.cudnn.enabled",
    "backends.cudnn.benchmark",
    "backends.cudnn.deterministic",
    "backends.cudnn.allow_tf32",
    "backends.cudnn.benchmark_limit",
    "backends.cuda.is_built()",
    "backends.cuda.matmul.allow_tf32",
    "backends.cuda.matmul.allow_fp16_reduced_precision_reduction",
    "backends.cuda.matmul.nothing",
    "backends.cuda.flash_sdp_enabled()",
    "backends.cuda.math_sdp_enabled()",
    "backends.mps.is_available()",
    "backends.mps.is_built()",
    "backends.mkldnn.enabled",
    "backends.cpu.get_cpu_capability()",
    "use_deterministic_algorithms(1)",
    'set_deterministic_debug_mode("nope")',
    "set_deterministic_debug_mode(7)",
    "set_deterministic_debug_mode(1.0)",
    "get_float32_matmul_precision()",
    "set_float32_matmul_precision(1)",
    "set_num_interop_threads(0)",
    'set_num_interop_threads("a")',
    "set_flush_denormal(False)",
    "set_flush_denormal(1)",
    "set_warn_always(1)",
    "is_warn_always_enabled()",
    "is_autocast_enabled()",
    "is_autocast_enabled('cpu')",
    "is_autocast_enabled('meta')",
    "is_autocast_cache_enabled()",
    "get_autocast_dtype('cpu')",
    "get_autocast_dtype('cuda')",
    "get_autocast_dtype('meta')",
    "autocast('meta')",
    "autocast(3)",
    "autocast('xpu')._enabled",
    "autocast('cuda')._enabled",
    "autocast('cpu',dtype=lib.float64)._enabled",
    "set_autocast_enabled('cpu',1)",
    "set_autocast_dtype('cpu',3)",
    "version.cuda",
    "version.hip",
    "version.debug",
    "distributed.is_initialized()",
    "distributed.get_rank()",
    "distributed.get_world_size()",
    "multiprocessing.get_sharing_strategy()",
    "multiprocessing.set_sharing_strategy('')",
    "compiler.is_compiling()",
    "compiler.is_exporting()",
    "compile(3)",
    "compiler.disable(3)",
    "jit.is_scripting()",
    "jit.is_tracing()",
    "jit.annotate(int,3)",
    "jit.ignore(3)",
    "fx.wrap(3)",
    "fx.wrap('len')",
    "hub.load('/nonexist','m',source='local')",
    "hub.load('a','m',source='x')",
    "types.Number",
    "amp.GradScaler('cpu').state_dict()",
    "amp.GradScaler().is_enabled()",
    "amp.GradScaler('cpu',growth_factor=1.0)",
    "amp.GradScaler('cpu').update()",
    "amp.is_autocast_available('cpu')",
    "amp.is_autocast_available('meta')",
]


@pytest.mark.parametrize("expression", NO)
def test_answers(lib, torch, expression):
    def answer(library):
        value = eval(f"lib.{expression}", {"lib": library})
        return type(value).__name__, str(value).replace("torch", "imode")

    def outcome(library):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            raised = error(lambda: answer(library))
            return answer(library) if raised == ["nothing"] else raised

    assert outcome(lib) == outcome(torch)


UNDER = [
    "x@x",
    "x.mm(x)",
    "lib.bmm(y,y)",
    "lib.addmm(x,x,x)",
    "F.linear(x,x)",
    "x+x",
    "x*2",
    "x.sum()",
    "x.exp()",
    "F.softmax(x,-1)",
    "F.relu(x)",
    "F.layer_norm(x,(3,))",
    "F.mse_loss(x,x)",
    "F.l1_loss(h,h)",
    "F.prelu(x,x[0])",
    "F.cross_entropy(x,i)",
    "F.cross_entropy(h,i)",
    "F.nll_loss(h,i)",
    "F.smooth_l1_loss(h,h)",
    "F.huber_loss(h,h)",
    "F.conv1d(y,y)",
    "F.conv_transpose1d(y,y)",
    "lib.cat([x,h])",
    "lib.stack([x,h])",
    "lib.cat([h,h])",
    "x.prod()",
    "h.prod()",
    "h.trace()",
    "lib.cdist(h,h)",
    "lib.einsum('ij,jk->ik',x,x)",
    "lib.tensordot(x,x,1)",
    "lib.chain_matmul(x,x)",
    "lib.linalg.multi_dot([x,x])",
    "lib.linalg.inv(x)",
    "lib.linalg.vecdot(x,x)",
    "lib.fft.fft(h)",
    "F.scaled_dot_product_attention(y,y,y)",
    "x.double()@x.double()",
    "i.unsqueeze(0).float()@x",
    "x.mv(x[0])",
    "x[0].dot(x[0])",
    "lib.outer(x[0],x[0])",
    "lib.quantile(h,0.5)",
    "F.kl_div(h,h)",
    "F.binary_cross_entropy_with_logits(h,h)",
    "F.embedding(i,x)",
    "lib.matmul(x,x[0])",
    "lib.baddbmm(y,y,y)",
    "lib.addbmm(x,y,y)",
    "F.gelu(x)",
    "F.dropout(x,0.0)",
    "F.batch_norm(x,None,None,training=True)",
    "x.mean()",
    "x.softmax(-1)",
    "F.pad(h,(1,1))",
    "x.norm()",
    "F.cosine_similarity(h,h)",
    "lib.baddbmm(y,h.expand(1,3,3),y)",
    "lib.rnn_tanh_cell(x,x,x,x,x[0],x[1])",
    "lib.rnn_relu_cell(h,x,x,x)",
    "lib.gru_cell(x,x,lib.cat([x,x,x]),lib.cat([x,x,x]))",
    "lib.lstm_cell(x,[x,x],lib.cat([x,x,x,x]),lib.cat([x,x,x,x]))[0]",
    "lib.rnn_tanh(y,y,[x,x],False,1,0.0,False,False,False)[0]",
    "lib.rnn_relu(y,y,[x,x],False,1,0.0,False,False,False)[1]",
    "lib.gru(y,y,[lib.cat([x,x,x])]*2,False,1,0.0,False,False,False)[0]",
]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("expression", UNDER)
def test_dtypes_under_autocast(lib, torch, expression, dtype):
    def outcome(library):
        x = library.tensor([[2.0, 0.5, 0.25], [0.5, 3.0, 1.0], [0.0, 1.0, 4.0]], requires_grad=True)
        names = {"lib": library, "F": library.nn.functional, "x": x, "y": x.reshape(1, 3, 3)}
        names |= {"h": x.to(getattr(library, dtype)), "i": library.tensor([0, 1, 2])}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                with library.autocast("cpu", dtype=getattr(library, dtype)):
                    result = eval(expression, names)
            except Exception as raised:
                return type(raised).__name__
        values = result.detach().to(library.complex64)
        gradient = None
        if result.requires_grad and result.is_floating_point():
            (gradient,) = library.autograd.grad(result.sum(), x, allow_unused=True)
        return str(result.dtype)[6:], values, gradient

    ours, theirs = outcome(lib), outcome(torch)
    assert (ours if isinstance(theirs, str) else ours[0]) == theirs[:1][0] or ours == theirs
    if isinstance(theirs, tuple):
        for mine, yours in zip(ours[1:], theirs[1:], strict=True):
            assert (mine is None) == (yours is None)
            if yours is not None:  # in 8 bits or 11 a sum's order may cost two last places
                got, wanted = mine.numpy(), yours.numpy()
                finite = wanted[np.isfinite(wanted)]
                atol = 2e-2 * max(1.0, abs(finite).max(initial=0.0))
                np.testing.assert_allclose(got, wanted, rtol=0, atol=atol)


def states(lib):
    """What is set is read back."""
    lib.backends.cudnn.benchmark = True
    lib.backends.cudnn.deterministic = True
    out = [lib.backends.cudnn.benchmark, lib.backends.cudnn.deterministic]
    with lib.backends.cudnn.flags(enabled=False, benchmark=False):
        out += [lib.backends.cudnn.enabled, lib.backends.cudnn.benchmark]
    out += [lib.backends.cudnn.enabled, lib.backends.cudnn.benchmark]
    lib.backends.cudnn.benchmark = lib.backends.cudnn.deterministic = False
    for mode in ("error", 1, "default"):
        lib.set_deterministic_debug_mode(mode)
        out += [lib.get_deterministic_debug_mode(), lib.are_deterministic_algorithms_enabled()]
        out += [lib.is_deterministic_algorithms_warn_only_enabled()]
    for word in ("high", "nope", "highest"):
        lib.set_float32_matmul_precision(word)
        out += [lib.get_float32_matmul_precision(), lib.backends.cuda.matmul.allow_tf32]
    lib.backends.cuda.matmul.allow_tf32 = True
    out += [lib.get_float32_matmul_precision()]
    lib.backends.cuda.matmul.allow_tf32 = False
    return [*out, lib.get_float32_matmul_precision()]


def forked(lib):
    """The stream goes on after a block of fork_rng."""
    lib.random.manual_seed(3)
    with lib.random.fork_rng():
        first = lib.rand(3)
    return [first, lib.rand(3), lib.random.initial_seed(),
            error(lambda: lib.random.fork_rng(devices=[0]).__enter__())]  # fmt: skip


def scaling(lib):
    """A training loop with a scaler: gradients that overflow are left out, the scale grows."""
    model = lib.nn.Linear(2, 1, bias=False)
    with lib.no_grad():
        model.weight.copy_(lib.tensor([[0.5, -1.0]]))
    sgd = lib.optim.SGD(model.parameters(), lr=0.1)
    scaler = lib.amp.GradScaler("cpu", init_scale=16.0, growth_interval=2)
    out = []
    for x in (1.0, 2.0, float("inf"), 0.5):
        sgd.zero_grad()
        with lib.autocast("cpu"):
            loss = model(lib.tensor([[x, 1.0]])).float().mean()
        scaler.scale(loss).backward()
        scaler.unscale_(sgd)
        out += [error(lambda: scaler.unscale_(sgd)), model.weight.grad.clone()]
        scaler.step(sgd)
        out += [error(lambda: scaler.step(sgd)), error(lambda: scaler.unscale_(sgd))]
        scaler.update()
        out += [model.weight.detach().clone(), scaler.get_scale(), scaler.state_dict()]
    return [*out, error(lambda: scaler.step(sgd, closure=None)), error(lambda: scaler.scale(3))]


def decorated(lib):
    """autocast on functions, custom_fwd and custom_bwd."""

    @lib.autocast("cpu")
    def product(x):
        return x @ x

    class Product(lib.autograd.Function):
        @staticmethod
        @lib.amp.custom_fwd(device_type="cpu", cast_inputs=lib.float32)
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x @ x + lib.is_autocast_enabled("cpu")

        @staticmethod
        @lib.amp.custom_bwd(device_type="cpu")
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad @ x + lib.is_autocast_enabled("cpu")

    x = lib.ones(2, 2, requires_grad=True)
    with lib.autocast("cpu"):
        y = Product.apply(x.bfloat16())
    y.sum().backward()
    z = Product.apply(lib.ones(2, 2))
    return [str(product(x).dtype), y, str(y.dtype), x.grad, z]


def unchanged(lib):
    """Decorators give functions that compute the same."""
    double = lib.compiler.disable(lambda x: x * 2)
    model = lib.nn.Linear(2, 2)
    ignored = lib.jit.ignore(drop=False)(lib.jit.unused(lib.jit.export(double)))
    return [double(lib.ones(2)), ignored(lib.ones(2)), lib.jit.is_scripting(),
            lib.functional.einsum("i,i->", lib.ones(2), lib.ones(2)), model.training]  # fmt: skip


test_states = agrees(states)
test_forked = agrees(forked)
test_scaling = agrees(scaling)
test_decorated = agrees(decorated)
test_unchanged = agrees(unchanged)


def test_attention_and_its_layers_in_autocast(lib, torch):
    def whole(lib):
        lib.manual_seed(0)
        found = []
        x = lib.linspace(-1.0, 2.0, 24).view(3, 2, 4).sin().requires_grad_()
        attention, layer = lib.nn.MultiheadAttention(4, 2), lib.nn.TransformerEncoderLayer(4, 2, 8)
        hidden = lib.ones(3, 3).tril() == 0
        layer.eval()
        with lib.autocast("cpu", dtype=lib.bfloat16):
            made = [*attention(x, x, x), attention(x, x, x, need_weights=False)[0]]
            made += [attention(x, x, x, attn_mask=hidden)[0], layer(x, src_mask=hidden)]
            made += [lib.linalg.matmul(x, x.mT), lib.inner(x, x), lib.matrix_power(x @ x.mT, 3)]
        sum(each.float().square().sum() for each in made).backward()
        for tensor in (*made, x.grad, attention.in_proj_weight.grad):
            found.append(tensor.detach().float().numpy())
        return [[str(each.dtype).split(".")[1] for each in made], found]

    ours, theirs = whole(lib), whole(torch)
    assert ours[0] == theirs[0]
    for mine, its in zip(ours[1], theirs[1], strict=True):
        assert np.abs(mine - its).max() < 0.03 * np.abs(its).max()
