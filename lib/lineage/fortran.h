/* lineage/fortran: numbers as Fortran's edit descriptors write them. Private to lineage. */
#pragma once
#include <stdio.h>
#include <string.h>

/* Ew.d, a mantissa below 1: 0.1234E+05. */
void fortran_real(FILE *f, int width, int digits, double x);
