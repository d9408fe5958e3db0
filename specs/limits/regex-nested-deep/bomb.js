return new RegExp('('.repeat(1e5) + ')'.repeat(1e5)).source.length;
