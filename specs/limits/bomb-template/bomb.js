let text = `x`;
for (;;) text = `${text}${text}${text}`;
