const error = new Error('out of memory');
error.name = 'InternalError';
throw error;
