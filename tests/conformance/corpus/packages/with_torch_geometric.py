import torch
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GATConv, GCNConv, global_mean_pool
from torch_geometric.utils import degree, to_undirected

edges = to_undirected(torch.randint(12, (2, 30)))
graph = Data(x=torch.randn(12, 6), edge_index=edges, y=torch.randint(3, (12,)))
first, second = GCNConv(6, 8), GATConv(8, 3, heads=2, concat=False)
optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=0.01)
for _ in range(5):
    out = second(first(graph.x, graph.edge_index).relu(), graph.edge_index)
    loss = torch.nn.functional.cross_entropy(out, graph.y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
batch = Batch.from_data_list([graph, graph])
print(global_mean_pool(batch.x, batch.batch), degree(edges[0]))
