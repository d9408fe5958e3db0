mkdir given
echo before > given/file
# The user of a sandbox is nobody of the host, so the folder is everybody's.
chmod 777 given
chmod 666 given/file

    echo secret > "$HOME/secret"
    ln -s "$HOME/secret" given/absolute
    ln -s ../../home/secret given/relative
    ln -s "$HOME" given/of-the-folder
