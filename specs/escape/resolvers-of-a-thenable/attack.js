const thenable = {
  then(resolve, reject) {
    try {
      resolve('ESCAPED: ' + resolve.constructor('return typeof globalThis')());
    } catch (error) {
      resolve(`refused: ${error.message}`);
    }
  },
};
return thenable;
