curl -sS https://public.test/json
if said=$(curl -sS https://other.test/ 2>&1); then echo "ESCAPED $said"; else echo "REFUSED $said"; fi
said=$(curl -sS http://other.test/)
case $said in *host-not-allowed*) echo "REFUSED $said" ;; *) echo "ESCAPED $said" ;; esac
