"""Holds random products of the library on a GPU against products in double, and replays some from CUDA graphs.

    python3 problems.py libgemm-steps.so COUNT [SEED]

Types, transposes, leading dimensions, batches, addresses, alpha, beta, biases and activations are random. C is NaN before it is
written, where beta is 0, and what lies around it must stay. Needs PyTorch. The exit status is 1 if something is wrong.
"""
import math, random, sys
import torch
from practice import BF16, F16, F32, TYPES, Library, Problem

GUARD = 77  # around C


def size(r, most, unit):
    """1 to most, each doubling as likely as the others; multiples of unit."""
    return -(int((most + 1) ** r.random()) // -unit) * unit


def place(r, t, batch, rows, columns, shared, unit):
    """Room for matrices with gaps, at an address and with distances that are multiples of unit, if sizes are: the whole array, and the
    matrices in it; shared: all of a batch are one."""
    ld, offset = columns + unit * r.choice((0, 0, r.randrange(9))), unit * r.choice((0, 0, r.randrange(8)))
    stride = 0 if shared else rows * ld + unit * r.choice((0, r.randrange(9)))
    whole = torch.full((offset + (batch - 1) * stride + rows * ld + 8,), GUARD, device='cuda', dtype=t)
    return whole, whole.as_strided((batch, rows, columns), (stride, ld, 1), offset), ld, stride


def activated(x, kind):
    """As gemm.h says it."""
    return (x, x.clamp(min=0), x / 2 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))))[kind]


class Product:
    def __init__(self, r, most):
        t = r.choice((F32, F16, BF16))
        tc, unit, batch = r.choice((t, t, F32)), r.choice((1, 8)), r.choice((1, 1, 1, r.randrange(1, 5)))  # 8: what TMA can read
        self.m, self.n, self.k = (size(r, most, unit) for _ in 'mnk')
        ta, tb, self.alpha, self.beta = r.randrange(2), r.randrange(2), r.choice((1, 1, -.5, 2.25, 0)), r.choice((0, 0, 1, -.75))
        _, A, lda, stride_a = place(r, t, batch, *((self.k, self.m) if ta else (self.m, self.k)), batch > 1 and r.random() < .3, unit)
        _, B, ldb, stride_b = place(r, t, batch, *((self.n, self.k) if tb else (self.k, self.n)), batch > 1 and r.random() < .3, unit)
        self.whole, self.C, ldc, stride_c = place(r, tc, batch, self.m, self.n, False, unit)
        self.bias_kind, self.activation = r.choice((0, 0, 1, 2)), r.choice((0, 0, 1, 2))
        self.bias = torch.randn((0, self.n, self.m)[self.bias_kind], device='cuda').to(tc)
        for X, stride in ((A, stride_a), (B, stride_b)):
            part = X if stride else X[:1]
            part.copy_(torch.randn(part.shape, device='cuda'))
        self.A, self.B, self.old = A.mT if ta else A, B.mT if tb else B, torch.randn(self.C.shape, device='cuda').to(tc)
        self.problem = Problem(
            m=self.m, n=self.n, k=self.k, batch=batch, type=TYPES[t][0], type_c=TYPES[tc][0], transpose_a=ta, transpose_b=tb,
            alpha=self.alpha, beta=self.beta, A=A.data_ptr(), B=B.data_ptr(), C=self.C.data_ptr(), lda=lda, ldb=ldb, ldc=ldc,
            stride_a=stride_a, stride_b=stride_b, stride_c=stride_c, bias_kind=self.bias_kind, activation=self.activation,
            bias=self.bias.data_ptr() if self.bias_kind else 0)

    def reset(self):
        self.whole.fill_(GUARD)
        self.C.copy_(self.old if self.beta else torch.full_like(self.old, math.nan))

    def wrong(self):
        """What is wrong with C, if anything is."""
        product, sums = self.A.double() @ self.B.double(), self.A.double().abs() @ self.B.double().abs()
        column = self.bias.double().reshape((1, -1) if self.bias_kind == 1 else (-1, 1)) if self.bias_kind else 0
        exact = activated(self.alpha * product + self.beta * self.old.double() + column, self.activation)
        unit = torch.finfo(self.C.dtype).eps
        # Tensor cores cut off the last bits of each sum of 16 products; a missing one of the K products is more than that.
        rest = abs(self.beta) * self.old.double().abs() + 1
        bound = 2 ** -22 * (1 + self.k / 64) * abs(self.alpha) * sums + unit * exact.abs() + 2 ** -21 * rest
        error = (self.C.double() - exact).abs() / bound
        far = ~(error <= 1)
        self.C.fill_(GUARD)  # what lies around it
        if far.any():
            return '%d elements, the first at %s, by %.3g' % (far.sum(), far.nonzero()[0].tolist(), error[far].max())
        return '' if (self.whole == GUARD).all() else 'something around C was written'

    def __str__(self):
        p = self.problem
        return ' '.join('%s=%g' % (name, getattr(p, name)) for name, _ in p._fields_ if name not in ('A', 'B', 'C', 'bias'))


def replayed(library, product):
    """Whether a graph gives the same bits as the call."""
    bits, stream, graph = product.C.clone(memory_format=torch.contiguous_format), torch.cuda.Stream(), torch.cuda.CUDAGraph()
    library.set_stream(stream)
    with torch.cuda.graph(graph, stream=stream):
        library.run(product.problem)
    product.reset()
    graph.replay()
    torch.cuda.synchronize()
    library.set_stream(torch.cuda.current_stream())
    return torch.equal(bits.view(torch.uint8), product.C.contiguous().view(torch.uint8))


def main():
    r, library, count = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1), Library(sys.argv[1]), int(sys.argv[2])
    wrong, graphs, kernels = 0, 0, set()
    for i in range(count):
        product = Product(r, (300, 1500, 6000)[i % 3])
        product.reset()
        library.run(product.problem)
        kernels.add(library.said('kernel'))
        said = '' if i % 8 or replayed(library, product) else 'the graph gives other bits'
        graphs += i % 8 == 0
        said = said or product.wrong()
        if said:
            wrong += 1
            print('WRONG', said, 'by', library.said('kernel') + ':', product, flush=True)
    print('%d products, %d of them replayed, by %d kernels and ways: %d wrong' % (count, graphs, len(kernels), wrong))
    return wrong > 0


if __name__ == '__main__':
    sys.exit(main())
