let chain = null;
for (;;) chain = { chain };
