mkdir -p folder/sub outside
echo one > folder/one
echo two > folder/two
echo deep > folder/sub/deep
echo untouched > outside/file
chmod 755 folder folder/sub
touch -d "2020-01-02 03:04:05" folder/one folder/two folder/sub/deep folder/sub folder outside/file outside
listed() {
    find folder outside -printf '%p %y %m %s %T@ %l\n' | sort
    find folder outside -type f -exec cat {} +
}
listed > before
