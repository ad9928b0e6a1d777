/* comm/transport: the table of transports; see transport.h. */
#include "comm/transport.h"

const struct transport comm_transport[TRANSPORTS] = {
#define TRANSPORT(name, tried) {#name, tried, name##_begin, name##_end, name##_deliver},
#include "comm/transports.def"
#undef TRANSPORT
};
