mkdir outside
echo untouched > outside/file
mkdir -p "$HOME/work/outside"
ln outside/file "$HOME/work/outside/file"
find outside -printf '%p %y %n %s %l\n' | sort > before
PYTHONPATH="$HOME" python3 -B pack.py
