return { execute: () => 'never called' };
