/* fd/order6: substeps with differences of order 6. */
#define ORDER 6
#define TABLE fd_advance_6
#include "fd/order.h"
