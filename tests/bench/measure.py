"""Runs a command as one rank; appends its peak resident set [MiB] and processor seconds to a file.

    measure.py FILE COMMAND...
"""
import os
import resource
import subprocess
import sys

status = subprocess.call(sys.argv[2:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
line = '%.1f %.2f\n' % (used.ru_maxrss / 1024, used.ru_utime + used.ru_stime)
f = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
os.write(f, line.encode())  # a single write, so that lines of ranks do not mix
os.close(f)
sys.exit(status if status >= 0 else 128 - status)
