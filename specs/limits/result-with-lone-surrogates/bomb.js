return ['\ud800', '\udc00x', { '\ud800': 1 }];
