return {
  get value() {
    const { stack } = new Error('inside');
    return /\/|visit|write|finish|stringify/.test(stack) ? `ESCAPED: ${stack}` : 'refused: no frame of yours';
  },
};
