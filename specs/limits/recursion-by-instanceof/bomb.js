class A {
  static [Symbol.hasInstance](x) {
    return x instanceof A;
  }
}
return 1 instanceof A;
