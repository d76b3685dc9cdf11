"""The note "Autograd mechanics", its section "Autograd for complex numbers"."""

import pytest

import imode
from imode import nn, optim
from imode.autograd import grad
from imode.autograd.functional import jacobian


def test_optimisation_over_complex_parameters_takes_the_steepest_descent():
    imode.manual_seed(0)
    target = imode.tensor([1 + 2j, -3 + 0.5j])
    z = imode.zeros(2, dtype=imode.complex64, requires_grad=True)
    for _ in range(100):
        loss = (z - target).abs().pow(2).sum()
        (grad,) = imode.autograd.grad(loss, z)
        assert grad.allclose(2 * (z - target).detach(), atol=1e-5)
        with imode.no_grad():
            z -= 0.1 * grad
    assert z.allclose(target, atol=1e-3)


OPTIMIZERS = [optim.SGD, optim.Adam, optim.AdamW, optim.RMSprop, optim.Adagrad]


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_existing_optimizers_work_with_complex_parameters(optimizer):
    target = imode.tensor([1 + 2j, -3 + 0.5j])
    z = nn.Parameter(imode.zeros(2, dtype=imode.complex64))
    steps = optimizer([z], lr=0.1)
    losses = []
    for _ in range(50):
        steps.zero_grad()
        loss = (z - target).abs().pow(2).sum()
        loss.backward()
        steps.step()
        losses.append(loss.item())
    assert losses[-1] < 0.8 * losses[0]


def test_the_steps_of_both_parts_are_one_complex_step():
    z = imode.tensor([0.3 - 0.7j], requires_grad=True)
    parts = imode.view_as_real(z.detach()).clone().requires_grad_()
    loss = lambda z: (z.sin() * z.conj()).real.square().sum()
    (by_z,) = grad(loss(z), z)
    (by_parts,) = grad(loss(imode.view_as_complex(parts)), parts)
    assert imode.view_as_real(by_z).allclose(by_parts)


def test_a_real_function_that_is_complex_inside():
    x = imode.tensor([0.5, -2.0], requires_grad=True)
    inside = (imode.exp(1j * x) * (x + 0j)).abs().square()
    (found,) = grad(inside.sum(), x)
    assert found.dtype == imode.float32 and found.allclose(2 * x.detach())


FUNCTIONS = {
    "c z": lambda z: 3.0 * z,
    "z^2": lambda z: z * z,
    "sin": imode.sin,
    "exp": imode.exp,
    "conjugate": lambda z: z.conj(),
    "z conj(z)": lambda z: z * z.conj(),
    "real part": lambda z: z.real + 0j,
    "z |z|": lambda z: z * z.abs(),
    "z^2 / conj(z)": lambda z: z * z / z.conj(),
}
HOLOMORPHIC = {"c z", "z^2", "sin", "exp"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_derivative_is_that_of_wirtinger_by_the_definition(name):
    function = FUNCTIONS[name]
    at = imode.tensor([0.8, -0.6], dtype=imode.float64)
    plane = lambda p: imode.view_as_real(function(imode.view_as_complex(p)))
    (ux, uy), (vx, vy) = jacobian(plane, at).tolist()
    by_x, by_y = ux + 1j * vx, uy + 1j * vy
    by_z, by_conj = (by_x - 1j * by_y) / 2, (by_x + 1j * by_y) / 2
    assert (abs(by_conj) < 1e-12) is (name in HOLOMORPHIC)  # Cauchy and Riemann
    z = imode.view_as_complex(at).requires_grad_()
    g = 0.5 + 2j
    (found,) = grad(function(z), z, imode.tensor(g, dtype=imode.complex128))
    assert abs(found.item() - (g.conjugate() * by_conj + g * by_z.conjugate())) < 1e-12


def test_holomorphic_and_cross_domain_functions():
    z = imode.tensor([1 + 2j], requires_grad=True)
    c = 3.0
    (grad,) = imode.autograd.grad((c * z).real.sum(), z)
    assert grad.item() == c  # f(z) = c z: the conjugate Wirtinger derivative is c
    (grad,) = imode.autograd.grad((z * z.conj()).real.sum(), z)
    assert grad.item() == 2 * (1 + 2j)  # C -> R: 2 grad ds/dz*
    x = imode.tensor([2.0], requires_grad=True)
    (grad,) = imode.autograd.grad((x * (1 + 1j)).abs().pow(2).sum(), x)
    assert grad.dtype == imode.float32 and grad.allclose(imode.tensor([8.0]))  # R -> C -> R


def test_a_function_from_real_to_complex_numbers():
    x = imode.tensor([0.7], dtype=imode.float64, requires_grad=True)
    s = imode.exp(2j * x)
    g = 1.5 - 0.5j
    (found,) = grad(s, x, imode.tensor([g], dtype=imode.complex128))
    slope = 2j * s.item()
    assert abs(found.item() - (g.conjugate() * slope).real) < 1e-12
