const say = console.log;
class Mine extends Promise {
  static get [Symbol.species]() {
    return class extends Promise {
      constructor(executor) {
        super((resolve, reject) => executor(resolve, reject));
        if (/\//.test(new Error('x').stack)) say('ESCAPED');
      }
    };
  }
  then(...handlers) {
    try {
      say('ESCAPED: ' + handlers[0].constructor('return typeof globalThis')());
    } catch {}
    return super.then(...handlers);
  }
}
return new Mine((done) => done('refused'));
