// CUDA's language on a CPU: a block's threads are fibers that take turns, one at a time, and wait for each other where the
// kernel synchronises. A warp's threads exchange values as on a GPU: all 32 have to take part.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <setjmp.h>
#include <ucontext.h>
#include <functional>
#include <vector>
#define __global__
#define __device__
#define __shared__
#define __launch_bounds__(threads, blocks)
struct Place { int x; };
struct uint4 { unsigned x, y, z, w; };
struct uint2 { unsigned x, y; };
static Place blockIdx, threadIdx, blockDim, gridDim;
alignas(16) long long totals[1 << 15];  // shared memory, whatever a kernel calls it

static const int WARP = 32, STACK = 1 << 16;
enum State { RUNNING, AT_WARP, AT_BLOCK, DONE };
struct Fiber {
    ucontext_t context;  // where it begins; from then on it jumps, without system calls
    jmp_buf place;
    bool begun;
    State state;
    std::vector<char> stack;
};
static std::vector<Fiber> fibers;
static std::vector<std::vector<uint64_t>> offered;  // of each warp, what its threads offer each other
static jmp_buf home;
static std::function<void()> body;
extern "C" int backwards = 0;  // the last warp and thread go first: results must not depend on it

static void run_body() {
    body();
    fibers[threadIdx.x].state = DONE;
    _longjmp(home, 1);
}

static void wait_as(State state) {
    int self = threadIdx.x;
    fibers[self].state = state;
    if (!_setjmp(fibers[self].place)) _longjmp(home, 1);
}

static void go_on(int i) {
    threadIdx.x = i;
    if (_setjmp(home)) return;
    if (fibers[i].begun) _longjmp(fibers[i].place, 1);
    fibers[i].begun = true;
    setcontext(&fibers[i].context);
}

static bool all(int from, int to, State state) {
    for (int i = from; i < to; i++) if (fibers[i].state != state) return false;
    return true;
}

static bool run_warp(int first) {
    bool moved = false;
    for (bool going = true; going;) {
        going = false;
        for (int turn = 0; turn < WARP; turn++) {
            int i = first + (backwards ? WARP - 1 - turn : turn);
            if (fibers[i].state == RUNNING) go_on(i), going = true;
        }
        if (all(first, first + WARP, AT_WARP))
            for (int i = first; i < first + WARP; i++) fibers[i].state = RUNNING, going = true;
        moved |= going;
    }
    return moved;
}

static void run_block(int threads) {
    fibers.resize(threads);
    offered.assign(threads / WARP, std::vector<uint64_t>(WARP));
    for (Fiber &fiber : fibers) {
        fiber.stack.resize(STACK);
        fiber.state = RUNNING;
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack.data(), fiber.context.uc_stack.ss_size = STACK;
        fiber.context.uc_link = nullptr, fiber.begun = false;
        makecontext(&fiber.context, run_body, 0);
    }
    while (!all(0, threads, DONE)) {
        bool moved = false;
        for (int turn = 0; turn < threads; turn += WARP)  // a warp goes on as long as it can, however far others are behind
            moved |= run_warp(backwards ? threads - WARP - turn : turn);
        if (all(0, threads, AT_BLOCK))
            for (Fiber &fiber : fibers) fiber.state = RUNNING, moved = true;
        if (!moved) {
            fprintf(stderr, "threads wait for others that do not come\n");
            abort();
        }
    }
}

static inline void __syncthreads() { wait_as(AT_BLOCK); }
static inline void __syncwarp() { wait_as(AT_WARP); }
template <class T> static T exchanged(T value, int source) {
    std::vector<uint64_t> &slots = offered[threadIdx.x / WARP];
    memcpy(&slots[threadIdx.x % WARP], &value, sizeof value);
    wait_as(AT_WARP);
    memcpy(&value, &slots[source], sizeof value);
    wait_as(AT_WARP);
    return value;
}
template <class T> static T __shfl_sync(unsigned, T value, int lane) { return exchanged(value, lane % WARP); }
template <class T> static T __shfl_xor_sync(unsigned, T value, int mask) { return exchanged(value, threadIdx.x % WARP ^ mask); }
static inline long long __double2ll_rn(double value) { return llrint(value); }
static inline int __double2int_rn(double value) {
    if (!(fabs(value) < 2147483648.0)) fprintf(stderr, "%g is no int\n", value), abort();
    return lrint(value);
}
static inline unsigned long long atomicAdd(unsigned long long *at, unsigned long long by) { return (*at += by) - by; }
static inline int atomicAdd(int *at, int by) {
    int sum;
    if (__builtin_add_overflow(*at, by, &sum)) fprintf(stderr, "a sum of a tile is too large\n"), abort();
    return (*at = sum) - by;
}
static inline int atomicMax(int *at, int value) {
    int before = *at;
    if (value > before) *at = value;
    return before;
}
static inline int max(int a, int b) { return a > b ? a : b; }

template <class... Given> static void run_grid(int blocks, int threads, void (*kernel)(Given...), Given... given) {
    gridDim.x = blocks, blockDim.x = threads;
    body = [=] { kernel(given...); };
    for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++) {
        memset(totals, 0x55, sizeof totals);  // nothing is there at first
        run_block(threads);
    }
}
// run_NAME(blocks, threads, what the kernel takes...)
template <auto kernel> struct Run;
template <class... Given, void (*kernel)(Given...)> struct Run<kernel> {
    static void run(int blocks, int threads, Given... given) { run_grid(blocks, threads, kernel, given...); }
};
