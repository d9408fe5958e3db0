return typeof a;
