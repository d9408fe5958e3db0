let object = {};
for (;;) object = Object.create(object);
