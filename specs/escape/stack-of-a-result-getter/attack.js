return {
  get value() {
    const { stack } = new Error('inside');
    return /\/|bailiwick|node:/.test(stack) ? `ESCAPED: ${stack}` : 'refused: no place of yours';
  },
};
