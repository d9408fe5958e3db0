return Array(200000).fill(12345678);
