const error = new Error('mine');
error.cause = error;
throw error;
