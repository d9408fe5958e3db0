"$PROGRAM" run --overrides o.yaml -e 'return await (await fetch("http://rebinding-between.test/")).text()' | grep -q hello
