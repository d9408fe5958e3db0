return typeof x;
