// What only some cards have: clusters and tensor maps (sm_90 and later), and PTX made for one architecture alone.
#pragma once

#include "base/backend.h"
#include "cuda.h"

// May this card run PTX of that .target? "sm_90a" is for 9.0 alone. False, with the card it needs in d's error.
bool hopper_accepts(struct dev *d, const char *name, const char *text);

// Launches clusters, or a kernel that may begin early: l->cluster is not 0, or early is true.
bool hopper_launch(struct dev *d, const struct cuda *c, cu_stream stream, cu_function f, const struct dev_launch *l,
                   bool early, void **params);

// Makes the map, as dev_tensor_map. False, with d's error, on a card before 9.0 or if the driver refuses it.
bool hopper_tensor_map(struct dev *d, const struct cuda *c, const struct dev_tensor *t, struct dev_tensor_map *map);
