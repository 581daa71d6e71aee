// The rules of tensor maps and of clusters at launch, as common/device.h states them, on every device that has them.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "ptx_case.h"
#include "simt/machine/tensor_map.h"

static struct dev_tensor good(dev_ptr address)
{
    return dev_matrix(address, DEV_MAP_F16, 100, 96, 104, 64, 64, DEV_SWIZZLE_128);
}

static void refused(struct dev *d, struct dev_tensor t, const char *word)
{
    struct dev_tensor_map map;
    cr_assert(!dev_tensor_map(d, &t, &map), "%s: taken: %s", dev_about(d)->name, word);
    cr_assert(strstr(dev_error(d), word), "%s: '%s' does not mention '%s'", dev_about(d)->name, dev_error(d), word);
}

Test(tensor_map, takes_what_keeps_the_rules)
{
    struct dev *devices[PTX_DEVICES];
    size_t n = ptx_devices_from(devices, 90, false);
    for (size_t i = 0; i < n; i++) {
        struct dev *d = devices[i];
        struct dev_tensor_map map = { { 0 } };
        dev_ptr a;
        cr_assert(dev_alloc(d, "A", 100 * 104 * 2, &a), "%s", dev_error(d));
        struct dev_tensor t = good(a);
        cr_assert(dev_tensor_map(d, &t, &map), "%s: %s", dev_about(d)->name, dev_error(d));
        t = (struct dev_tensor){
            .address = a, .type = DEV_MAP_U8, .rank = 5, .size = { 16, 2, 3, 4, 5 }, .box = { 16, 1, 2, 1, 2 }
        };
        t.stride[0] = 16, t.stride[1] = 32, t.stride[2] = 96, t.stride[3] = 384;
        cr_assert(dev_tensor_map(d, &t, &map), "%s: %s", dev_about(d)->name, dev_error(d));
        t.size[3] = t.size[4] = t.box[4] = 1, t.stride[2] = t.stride[3] = 0;  // of one element: it says nothing
        cr_assert(dev_tensor_map(d, &t, &map), "%s: %s", dev_about(d)->name, dev_error(d));
        dev_close(d);
    }
}

Test(tensor_map, refuses_what_breaks_a_rule)
{
    struct dev *devices[PTX_DEVICES];
    size_t n = ptx_devices_from(devices, 90, false);
    for (size_t i = 0; i < n; i++) {
        struct dev *d = devices[i];
        struct dev_tensor t;
        dev_ptr a;
        cr_assert(dev_alloc(d, "A", 100 * 104 * 2, &a), "%s", dev_error(d));
        refused(d, good(a + 8), "multiple of 16");
        refused(d, dev_matrix(a, DEV_MAP_F16, 100, 97, 97, 64, 64, DEV_SWIZZLE_128), "stride of 194 bytes");
        refused(d, dev_matrix(a, DEV_MAP_F16, 100, 96, 0, 64, 64, DEV_SWIZZLE_128), "stride of 0 bytes");
        refused(d, dev_matrix(a, DEV_MAP_F16, 100, 96, 104, 64, 128, DEV_SWIZZLE_128), "allows 128");
        refused(d, dev_matrix(a, DEV_MAP_F16, 100, 96, 104, 64, 20, DEV_SWIZZLE_64), "multiple of 16");
        refused(d, dev_matrix(a, DEV_MAP_F16, 100, 96, 104, 257, 64, DEV_SWIZZLE_128), "257 elements");
        refused(d, dev_matrix(a, DEV_MAP_F16, 0, 96, 104, 64, 64, DEV_SWIZZLE_128), "0 elements");
        t = good(a), t.rank = 6;
        refused(d, t, "rank 6");
        t = good(a), t.step[1] = 9;
        refused(d, t, "step 9");
        dev_close(d);
    }
}

// Step 12's swizzle<3, 3, 3> on rows of 64 halves: chunk c of row r is at place c XOR r mod 8.
Test(tensor_map, swizzles_chunks_of_sixteen_bytes)
{
    for (uint32_t row = 0; row < 16; row++) {
        for (uint32_t chunk = 0; chunk < 8; chunk++) {
            const uint32_t at = 128 * row + 16 * chunk, byte = at + 5;
            cr_assert_eq(tensor_map_swizzle(DEV_SWIZZLE_NONE, byte), byte);
            cr_assert_eq(tensor_map_swizzle(DEV_SWIZZLE_128, byte), 128 * row + 16 * (chunk ^ row % 8) + 5);
            cr_assert_eq(tensor_map_swizzle(DEV_SWIZZLE_64, byte), 128 * row + 16 * (chunk ^ row % 4) + 5);
            cr_assert_eq(tensor_map_swizzle(DEV_SWIZZLE_32, byte), 128 * row + 16 * (chunk ^ row % 2) + 5);
        }
    }
}

Test(tensor_map, a_grid_is_made_of_whole_clusters)
{
    static const char empty[] = PTX_SM_90 ".visible .entry k()\n{\n  ret;\n}\n";
    struct dev *d = ptx_simulator();
    struct dev_module *m = dev_load_text(d, "empty.ptx", empty, strlen(empty));
    struct dev_kernel *k = m ? dev_kernel(d, m, "k") : NULL;
    cr_assert(k, "%s", dev_error(d));
    struct dev_launch l = { .grid = { 6, 4 }, .block = { 32 }, .cluster = { 4 } };
    cr_assert(!dev_launch(d, k, &l) && strstr(dev_error(d), "whole clusters"), "'%s'", dev_error(d));
    l.cluster[0] = l.cluster[1] = l.cluster[2] = 1;
    cr_assert(dev_launch(d, k, &l), "'%s'", dev_error(d));
    l.grid[0] = 24, l.cluster[0] = 8, l.cluster[1] = 4;
    cr_assert(!dev_launch(d, k, &l) && strstr(dev_error(d), "at most 16"), "'%s'", dev_error(d));
    dev_close(d);
}
