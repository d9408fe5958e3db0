let text = 'ab'.repeat(50);
for (;;) text = text.replace(/a/g, "$`$'$&");
