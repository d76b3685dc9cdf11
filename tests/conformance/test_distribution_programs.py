"""Programs with distributions, as people write them for PyTorch: the same in both libraries."""

from tests.conformance.side_by_side import agrees


@agrees
def test_policy_gradient(lib):
    """REINFORCE on a bandit, as in PyTorch's examples."""
    d = lib.distributions
    logits = lib.zeros(3, requires_grad=True)
    optimizer = lib.optim.Adam([logits], lr=0.1)
    for _ in range(20):
        policy = d.Categorical(logits=logits)
        action = policy.sample((8,))
        reward = (action == 2).float()
        loss = -(policy.log_prob(action) * reward).mean() - 0.01 * policy.entropy()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return [logits, loss]


@agrees
def test_variational_autoencoder(lib):
    d, nn = lib.distributions, lib.nn
    encoder, decoder = nn.Linear(6, 4), nn.Linear(2, 6)
    parameters = [*encoder.parameters(), *decoder.parameters()]
    optimizer = lib.optim.SGD(parameters, lr=0.05)
    x = d.Bernoulli(lib.full((16, 6), 0.3)).sample()
    for _ in range(10):
        mean, log_scale = encoder(x).chunk(2, -1)
        q = d.Independent(d.Normal(mean, log_scale.exp()), 1)
        p = d.Independent(d.Normal(lib.zeros(16, 2), 1.0), 1)
        out = d.Independent(d.Bernoulli(logits=decoder(q.rsample())), 1)
        loss = (d.kl_divergence(q, p) - out.log_prob(x)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return [loss, *parameters]


@agrees
def test_proximal_policy_optimization(lib):
    """Continuous actions, squashed; the clipped ratio of probabilities."""
    d, nn = lib.distributions, lib.nn
    policy = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 4))
    optimizer = lib.optim.Adam(policy.parameters(), lr=0.01)

    def act(states):
        loc, log_scale = policy(states).chunk(2, -1)
        normal = d.Independent(d.Normal(loc, log_scale.clamp(-5, 2).exp()), 1)
        return d.TransformedDistribution(normal, [d.TanhTransform(cache_size=1)])

    states = lib.randn(32, 3)
    with lib.no_grad():
        old = act(states)
        actions = old.sample()
        log_probs = old.log_prob(actions)
    advantage = -(actions - 0.5).pow(2).sum(-1)
    for _ in range(5):
        ratio = (act(states).log_prob(actions) - log_probs).exp()
        loss = -lib.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return [loss, *policy.parameters()]


@agrees
def test_variational_inference_of_a_mixture(lib):
    """Parameters in their constraints, by `transform_to`; gradients through beta and gamma."""
    d = lib.distributions
    x = lib.cat([lib.randn(20) - 2, lib.randn(20) + 2])
    free = {name: lib.zeros(2, requires_grad=True) for name in ("a", "b", "loc")}
    positive = d.transform_to(d.constraints.positive)
    optimizer = lib.optim.SGD(list(free.values()), lr=0.01)
    for _ in range(5):
        weights = d.Dirichlet(positive(free["a"]))
        precisions = d.Gamma(positive(free["b"]), 1.0)
        w, tau = weights.rsample(), precisions.rsample()
        parts = d.Normal(free["loc"] + lib.tensor([-1.0, 1.0]), tau.rsqrt())
        evidence = d.MixtureSameFamily(d.Categorical(w), parts).log_prob(x).sum()
        loss = -evidence + d.kl_divergence(weights, d.Dirichlet(lib.ones(2)))
        loss = loss + d.kl_divergence(precisions, d.Gamma(lib.ones(2), 1.0)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return [loss, free]
