# SPDX-License-Identifier: Apache-2.0
"""Hard limits on the lines of files and functions and on parameters."""

from cpp_functions import functions
from tree import Finding

FILE_LIMITS = [("CMakeLists.txt", 150), (".cmake", 150), (".cc", 400), (".h", 250), (".cu", 350), (".cuh", 250), (".py", 400)]
MAX_FUNCTION = 60
MAX_KERNEL_BODY = 120  # __global__
MAX_PARAMETERS = 6
CPP = (".cc", ".h", ".cu", ".cuh")
# "path" or "path: function" -> why it may be larger
EXEMPT = {}


def check(tree):
    for path in tree.paths:
        limit = next((limit for suffix, limit in FILE_LIMITS if path.endswith(suffix)), None)
        if limit and path not in EXEMPT:
            lines = len(tree.text(path).splitlines())
            if lines > limit:
                yield Finding(path, limit + 1, f"{lines} lines, the limit is {limit}")
    for path in tree.matching(*CPP):
        for function in functions(tree.text(path)):
            if f"{path}: {function.name}" not in EXEMPT:
                yield from check_function(path, function)


def check_function(path, function):
    limit = MAX_KERNEL_BODY if function.is_kernel else MAX_FUNCTION
    if function.lines > limit:
        yield Finding(path, function.line, f"{function.name} has {function.lines} lines, the limit is {limit}")
    if function.parameters > MAX_PARAMETERS and not (function.is_kernel or function.on_device):
        yield Finding(path, function.line,
                      f"{function.name} has {function.parameters} parameters, more than {MAX_PARAMETERS} are a struct")


LONG = "  a = b;\n" * 60
CASES = [
    ("long file", {"a.h": "int a;\n" * 251}, 1),
    ("long function", {"a.cc": "namespace x {\nint F(int a) {\n" + LONG + "}\n}  // namespace x\n"}, 1),
    ("long method", {"a.h": "class A : public B {\n int F() const override {\n" + LONG + "}\n};\n"}, 1),
    ("long constructor", {"a.cc": "A::A(int a) : a_{a}, b_(1) {\n" + LONG + "}\n"}, 1),
    ("long test", {"a_test.cc": "TEST(A, B) {\n" + LONG + "}\n"}, 1),
    ("many parameters", {"a.cc": "void F(int a, int b, int c, int d, std::map<int, int> e, int f, int g) { }"}, 1),
    ("kernel body", {"a.cu": "__global__ void K(int a, int b, int c, int d, int e, int f, int g) {\n" + LONG + "}\n"}, 0),
    ("device function", {"a.cu": "__device__ void F(int a, int b, int c, int d, int e, int f, int g) { }"}, 0),
    ("good", {"a.cc": 'int F(std::map<int, int> a, int b) {\n  return Call("{", [](int) { return 1; });\n}\n'
              "const X kTable[] = {\n" + "  {1, 2},\n" * 70 + "};\n"}, 0),
]
