const error = new Error('plain');
for (const name of ['message', 'name', 'stack', 'cause', 'code', 'constructor', 'toString']) {
  Object.defineProperty(error, name, {
    get() {
      console.log('ESCAPED');
      return name;
    },
  });
}
throw error;
