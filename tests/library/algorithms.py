"""The algorithms of cuBLAS for a product, by its own list (cublasLtMatmulAlgoGetHeuristic), each to be run by itself.

Needs libcublasLt, which PyTorch brings along. Enumerations as in cublasLt.h.
"""
import ctypes

R_32F, R_16F, R_16BF = 0, 2, 14  # cudaDataType
COMPUTE_32F, TRANSA, TRANSB, OP_T, WORKSPACE_BYTES, REDUCTION_MASK, IN_COMPUTE_TYPE = 68, 3, 4, 1, 1, 3, 2
NOT_SUPPORTED = 15  # a status
MOST = 32  # algorithms that are asked for


class Found(ctypes.Structure):  # cublasLtMatmulHeuristicResult_t
    _fields_ = [('algorithm', ctypes.c_uint64 * 8), ('workspace', ctypes.c_size_t), ('state', ctypes.c_int), ('waves', ctypes.c_float),
                ('reserved', ctypes.c_int * 4)]


class Algorithms:
    def __init__(self, workspace, bytes, stream, name='libcublasLt.so.13'):
        """workspace: of that many bytes, on the device; all runs are in this stream."""
        self.c, self.handle, self.preference = ctypes.CDLL(name), ctypes.c_void_p(), ctypes.c_void_p()
        self.workspace, self.bytes, self.stream = ctypes.c_void_p(workspace), bytes, ctypes.c_void_p(stream)
        self.call('Create', ctypes.byref(self.handle))
        self.call('MatmulPreferenceCreate', ctypes.byref(self.preference))
        self.set('MatmulPreference', self.preference, WORKSPACE_BYTES, ctypes.c_size_t(bytes))
        self.set('MatmulPreference', self.preference, REDUCTION_MASK, ctypes.c_uint32(IN_COMPUTE_TYPE))  # parts of K are added in floats

    def call(self, name, *args):
        status = getattr(self.c, 'cublasLt' + name)(*args)
        if status:
            raise RuntimeError('cublasLt%s gave %d' % (name, status))

    def set(self, of, x, which, value):
        self.call(of + 'SetAttribute', x, which, ctypes.byref(value), ctypes.c_size_t(ctypes.sizeof(value)))

    def layout(self, type, rows, columns):
        x = ctypes.c_void_p()
        self.call('MatrixLayoutCreate', ctypes.byref(x), type, ctypes.c_uint64(rows), ctypes.c_uint64(columns), ctypes.c_int64(rows))
        return x

    def of(self, type, m, n, k, turned, A, B, C):
        """Functions of no arguments, the one first that cuBLAS takes for the fastest: C = A * B. A is m x k, B is k x n or, if it is
        turned, n x k, C is m x n, row by row and without gaps; addresses as numbers. To cuBLAS, which counts by columns, it is
        C^T = B^T * A^T."""
        d, found, n_found = ctypes.c_void_p(), (Found * MOST)(), ctypes.c_int()
        self.call('MatmulDescCreate', ctypes.byref(d), COMPUTE_32F, R_32F)
        if turned:
            self.set('MatmulDesc', d, TRANSA, ctypes.c_int32(OP_T))
        b = self.layout(type, *((k, n) if turned else (n, k)))
        a, c = self.layout(type, k, m), self.layout(type, n, m)
        status = self.c.cublasLtMatmulAlgoGetHeuristic(self.handle, d, b, a, c, c, self.preference, MOST, found, ctypes.byref(n_found))
        if status not in (0, NOT_SUPPORTED):  # not supported: there is none
            raise RuntimeError('cublasLtMatmulAlgoGetHeuristic gave %d' % status)
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        A, B, C = ctypes.c_void_p(A), ctypes.c_void_p(B), ctypes.c_void_p(C)

        def runner(x):
            return lambda: self.call('Matmul', self.handle, d, ctypes.byref(one), B, b, A, a, ctypes.byref(zero), C, c, C, c,
                                     ctypes.byref(x.algorithm), self.workspace, ctypes.c_size_t(self.bytes), self.stream)
        return [runner(x) for x in found[:n_found.value] if x.state == 0]
