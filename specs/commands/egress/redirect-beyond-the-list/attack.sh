if said=$(curl -sSL http://public.test/to/302?https://other.test/ 2>&1); then echo "ESCAPED $said"; else echo "REFUSED $said"; fi
said=$(curl -sSL http://public.test/to/302?http://127.0.0.1:8282/ 2>&1 --noproxy "")
case $said in *"Bailiwick refused"*) echo "REFUSED 2" ;; *) echo "ESCAPED $said" ;; esac
curl -sSL http://public.test/to/302?https://public.test/json
