/* fd/order4: substeps with differences of order 4. */
#define ORDER 4
#define TABLE fd_advance_4
#include "fd/order.h"
