"""Times the library on products of practice, beside PyTorch's matmul, which is cuBLAS by its own heuristic, and beside the fastest of
cuBLAS's algorithms, that one among them.

    python3 practice.py libgemm-steps.so SHAPES.csv SUMMARY.csv

Needs PyTorch on a GPU. All work in turn in PyTorch's own CUDA context; the L2 cache is emptied before each run; times are
medians. Each result is held against PyTorch's. The exit status is 1 if one is wrong.
"""
import csv, ctypes, math, random, statistics, sys
import torch
from algorithms import R_16BF, R_16F, R_32F, Algorithms

int32, int64, pointer = ctypes.c_int, ctypes.c_int64, ctypes.c_uint64
F32, F16, BF16 = torch.float32, torch.float16, torch.bfloat16
TYPES = {F32: (1, 'f32', 1e-4), F16: (2, 'f16', 4e-3), BF16: (3, 'bf16', 2e-2)}  # the library's number, name, allowed error
RUNS = 24  # each of the six orders of three four times
OF_CUBLAS = {F32: R_32F, F16: R_16F, BF16: R_16BF}
COLUMNS = 'set,layout,type,m,n,k,us,cublas_us,ratio,algorithms,fastest_us,fastest_ratio,kernel'.split(',')


class Problem(ctypes.Structure):  # gemm_steps_problem
    _fields_ = [(name, int32) for name in ('m', 'n', 'k', 'batch', 'type', 'type_c', 'transpose_a', 'transpose_b')] + \
               [('alpha', ctypes.c_float), ('beta', ctypes.c_float)] + [(name, pointer) for name in 'ABC'] + \
               [(name, int64) for name in ('lda', 'ldb', 'ldc', 'stride_a', 'stride_b', 'stride_c')] + \
               [('bias_kind', int32), ('activation', int32), ('bias', pointer)]


class Library:
    def __init__(self, path):
        self.c, self.handle = ctypes.CDLL(path), ctypes.c_void_p()
        for name in ('error', 'kernel', 'device'):
            getattr(self.c, 'gemm_steps_' + name).restype = ctypes.c_char_p
        torch.zeros(1, device='cuda')  # PyTorch makes its context
        self.check(self.c.gemm_steps_create(-1, ctypes.byref(self.handle)))
        self.set_stream(torch.cuda.current_stream())

    def check(self, status):
        if status:
            raise RuntimeError(self.c.gemm_steps_error(self.handle).decode())

    def set_stream(self, stream):
        self.check(self.c.gemm_steps_set_stream(self.handle, ctypes.c_void_p(stream.cuda_stream)))

    def said(self, what):
        return getattr(self.c, 'gemm_steps_' + what)(self.handle).decode()

    def run(self, problem):
        self.check(self.c.gemm_steps_gemm(self.handle, ctypes.byref(problem)))


def size(r):
    """64 to 8192, each doubling as likely as the others; half of them multiples of 8."""
    n = int(64 * 128 ** r.random())
    return n & ~7 if r.random() < .5 else n


def sets():
    r = random.Random(1)
    yield 'ladder', [(F16, n, n, n, 0) for n in (512, 1024, 2048, 4096, 8192)]
    yield 'squares', [(t, n, n, n, 0) for t in (F16, BF16) for n in (256, 768, 1536, 3072, 6144)]
    yield 'odd', [(F16, n, n, n, 0) for n in (1000, 3000, 5000, 511, 1023, 2047, 4095, 8191)]
    layers = ((4096, 4096), (6144, 4096), (14336, 4096), (4096, 14336), (8192, 8192), (28672, 8192), (8192, 28672))
    for tb, name in ((0, 'layers_nn'), (1, 'layers_nt')):
        yield name, [(BF16 if tb else F16, 1 << i, n, k, tb) for i in range(14) for n, k in layers]
    yield 'read', [(F16, 1, n, k, 0) for n, k in layers]  # in place of the library's product, PyTorch only reads B
    yield 'random', [(r.choice((F16, BF16)), size(r), size(r), size(r), 0) for _ in range(1000)]
    yield 'f32_squares', [(F32, n, n, n, 0) for n in (64, 128, 256, 512, 1024, 2048, 4096, 3000, 4095)]
    thin = ((1, 4096, 4096), (4096, 1, 4096), (8, 8192, 8192), (64, 4096, 4096), (4096, 64, 4096), (4096, 4096, 64),
            (64, 64, 8192), (128, 128, 65536), (512, 512, 16384), (10000, 300, 700), (784, 100, 60000), (1, 28672, 8192))
    yield 'f32_thin', [(F32, *s, 0) for s in thin]
    yield 'f32_random', [(F32, size(r), size(r), size(r), 0) for _ in range(300)]


def medians(functions, flush, times):
    """Microseconds of each, in turn. Who comes first matters, by up to 0.8 us, so they change places, in all orders."""
    all = [[] for _ in functions]
    for i in range(times):
        pairs = list(zip(functions, all))[::-1 if i % 2 else 1]
        turn = i // 2 % len(pairs)
        for f, out in pairs[turn:] + pairs[:turn]:
            flush.zero_()
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            torch.cuda._sleep(60000)  # the launch is queued by the time it begins
            begin.record()
            f()
            end.record()
            torch.cuda.synchronize()
            out.append(begin.elapsed_time(end) * 1e3)
    return [statistics.median(x) for x in all]


def fastest(algorithms, flush):
    """Of these functions, by a few runs of each."""
    for f in algorithms:
        f()
    times = medians(algorithms, flush, 3)
    return algorithms[times.index(min(times))]


def time_shape(library, cublas, flush, read, t, m, n, k, tb):
    number, name, bound = TYPES[t]
    A, W = torch.randn(m, k, device='cuda').to(t), torch.randn(*((n, k) if tb else (k, n)), device='cuda').to(t)
    B, C = W.t() if tb else W, torch.full((m, n), math.nan, device='cuda', dtype=t)
    p = Problem(m=m, n=n, k=k, type=number, transpose_b=tb, alpha=1, A=A.data_ptr(), B=W.data_ptr(), C=C.data_ptr())
    run = [lambda: library.run(p), lambda: torch.mm(A, B, out=C)]  # to the same place: where it lies takes up to 0.5 us
    results = []
    for f in run * 2:
        f()
        results = results[-1:] + [C.to(F32, copy=True)]
        C.fill_(math.nan)
    error = ((results[0] - results[1]).abs().max() / results[1].abs().max()).item()
    del results
    if read:
        run[0] = W.view(torch.int32).amax
    algorithms = cublas.of(OF_CUBLAS[t], m, n, k, tb, A.data_ptr(), W.data_ptr(), C.data_ptr())
    run.append(fastest(algorithms + run[1:], flush))
    a, b, c = medians(run, flush, RUNS)
    beside_choice, beside_fastest = ['%.2f' % b, '%.4f' % (b / a)], [len(algorithms), '%.2f' % c, '%.4f' % (c / a)]
    row = ['nt' if tb else 'nn', name, m, n, k, '%.2f' % a] + beside_choice + beside_fastest
    return row + ['amax' if read else library.said('kernel'), error <= bound]


def whole(row):
    """Whether all rows of A, B and C begin at multiples of 16 bytes."""
    _, type, _, n, k = row[:5]
    return n % (4 if type == 'f32' else 8) == k % (4 if type == 'f32' else 8) == 0


def summaries(name, rows):
    """Of a set of shapes, and where only some of them have whole rows, of these and of the others apart: each beside cuBLAS's choice, and
    beside the fastest of its algorithms."""
    parts = [(name, rows)]
    if name in ('random', 'f32_random'):
        parts += [(name + '_whole', [r for r in rows if whole(r)]), (name + '_others', [r for r in rows if not whole(r)])]
    for part, all in parts:
        for beside, column in (('', 7), ('_fastest', 10)):
            ratios = sorted(float(row[column]) for row in all)
            n, geomean = len(ratios), math.exp(sum(map(math.log, ratios)) / len(ratios))
            quantiles = [ratios[0], ratios[n // 20], ratios[n // 4], ratios[n // 2], ratios[-1]]
            yield [part + beside, n] + ['%.4f' % x for x in [geomean] + quantiles]


def main():
    library = Library(sys.argv[1])
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    flush = torch.empty(128 << 20, dtype=torch.int32, device='cuda')
    workspace = torch.empty(32 << 20, dtype=torch.uint8, device='cuda')  # as large as PyTorch's
    cublas = Algorithms(workspace.data_ptr(), workspace.numel(), torch.cuda.current_stream().cuda_stream)
    shapes, summary = csv.writer(open(sys.argv[2], 'w'), lineterminator='\n'), csv.writer(open(sys.argv[3], 'w'), lineterminator='\n')
    shapes.writerow(COLUMNS)
    summary.writerow('card,pytorch,cuda,set,shapes,geomean,worst,percentile_5,percentile_25,median,best'.split(','))
    wrong = 0
    for name, list in sets():
        rows = []
        for shape in list:
            *row, right = time_shape(library, cublas, flush, name == 'read', *shape)
            shapes.writerow([name] + row)
            rows.append(row)
            wrong += not right
            if not right:
                print('WRONG', name, *row, flush=True)
        for row in summaries(name, rows):
            summary.writerow([library.said('device'), torch.__version__.split('+')[0], torch.version.cuda] + row)
            print(*row, flush=True)
    return wrong > 0


if __name__ == '__main__':
    sys.exit(main())
