class Doll {
  constructor() {
    new Doll();
  }
}
new Doll();
