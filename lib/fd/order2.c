/* fd/order2: substeps with differences of order 2. */
#define ORDER 2
#define TABLE fd_advance_2
#include "fd/order.h"
