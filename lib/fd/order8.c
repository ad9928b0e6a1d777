/* fd/order8: substeps with differences of order 8. */
#define ORDER 8
#define TABLE fd_advance_8
#include "fd/order.h"
