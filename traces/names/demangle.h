/* demangle.h - kernels' names as their source has them.  The store keeps names as traced; these are for
 * display and for comparing names of different profilers. */
#ifndef GRIDTIDE_TRACES_NAMES_DEMANGLE_H
#define GRIDTIDE_TRACES_NAMES_DEMANGLE_H

/* A C++ name as its compiler mangled it (Itanium ABI, "_ZN1a1fIiEEvi") as its source has it
 * ("void a::f<int>(int)"); any other, and one that is damaged or that would become very long, as it is.
 * Malloced. */
char *gt_demangle(const char *name);

/* The function alone, mangled or not: without return type, namespaces and parameters
 * ("void a::f<int>(int)", "_ZN1a1fIiEEvi": "f<int>").  What is no function's text ("copy HtoD",
 * "triton_mm") comes back as it is.  Malloced. */
char *gt_function_name(const char *name);

/* A function's name without template arguments ("f"): what profilers that name one kernel differently agree in.
 * Malloced. */
char *gt_base_name(const char *name);

/* How well a kernel's name, mangled or not, fits what somebody asked for: 3 as traced, 2 as its function's own name, 1 a
 * part of either; 0 not at all. */
int gt_name_fit(const char *name, const char *asked);

#endif
