"""Times products with a beta, a bias or an activation by the library beside PyTorch's, in turn, as practice.py does.

    python3 epilogues.py libgemm-steps.so > EPILOGUES.csv

error: the largest difference from PyTorch's result, by its largest element.
"""
import csv, sys
import torch
from practice import BF16, F16, TYPES, Library, Problem, medians

SHAPES = (16, 4096, 4096), (128, 4096, 4096), (512, 4096, 14336), (1000, 1000, 1000), (2048, 4096, 4096), (4096, 4096, 4096), (501, 777, 1023)
BIAS = {'bias_kind': 1}  # an element for each column
RELU, GELU = {**BIAS, 'activation': 1}, {**BIAS, 'activation': 2}


def main():
    library, flush = Library(sys.argv[1]), torch.empty(128 << 20, dtype=torch.int32, device='cuda')
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    table = csv.writer(sys.stdout, lineterminator='\n')
    table.writerow('id,type,m,n,k,what,us,pytorch_us,error,kernel'.split(','))
    for t in (F16, BF16):
        for m, n, k in SHAPES:
            A, B, bias, C = (torch.randn(*size, device='cuda').to(t) for size in ((m, k), (k, n), (n,), (m, n)))
            ours, theirs = C.clone(), C.clone()
            ways = (('plain', {}, lambda: torch.mm(A, B, out=theirs)),
                    ('beta', {'beta': 1}, lambda: torch.addmm(theirs, A, B, out=theirs)),
                    ('bias', BIAS, lambda: torch.addmm(bias, A, B, out=theirs)),
                    ('bias relu', RELU, lambda: torch._addmm_activation(bias, A, B, use_gelu=False, out=theirs)),
                    ('bias gelu', GELU, lambda: torch._addmm_activation(bias, A, B, use_gelu=True, out=theirs)))
            for what, fields, pytorch in ways:
                ours.copy_(C), theirs.copy_(C)
                p = Problem(m=m, n=n, k=k, type=TYPES[t][0], alpha=1, A=A.data_ptr(), B=B.data_ptr(), C=ours.data_ptr(),
                            bias=bias.data_ptr() if 'bias_kind' in fields else 0, **fields)
                library.run(p), pytorch()
                error = ((ours.float() - theirs.float()).abs().max() / theirs.float().abs().max()).item()
                us = medians([lambda: library.run(p), pytorch], flush, 7)
                id = '%s_%dx%dx%d_%s' % (TYPES[t][1], m, n, k, what.replace(' ', '_'))
                table.writerow([id, TYPES[t][1], m, n, k, what, '%.2f' % us[0], '%.2f' % us[1], '%.1e' % error, library.said('kernel')])


if __name__ == '__main__':
    main()
