return Array(250001).fill(0);
