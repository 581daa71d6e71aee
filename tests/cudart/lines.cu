// A library with a kernel, and (with CALLER defined) a program that calls it and gives it too little memory.
extern "C" void fill_all(int *p);

#ifdef CALLER
int main()
{
    int *p;
    cudaMalloc(&p, 64);
    fill_all(p);
    return 0;
}
#else
__global__ void fill(int *p)
{
    p[threadIdx.x] = 1;
}

void fill_all(int *p)
{
    fill<<<1, 32>>>(p);
}
#endif
