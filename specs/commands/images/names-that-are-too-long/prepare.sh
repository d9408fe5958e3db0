mkdir outside
echo untouched > outside/file
find outside -printf '%p %y %n %s %l\n' | sort > before
PYTHONPATH="$HOME" python3 -B pack.py
