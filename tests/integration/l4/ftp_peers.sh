#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Other programs as clients of our FTP, for ftp.sh: ftp_peers.sh FOLDER. TAP goes to FOLDER/peers, which is
# there when all have done.
folder=$1 four=ftp://198.19.1.2:6021 six=ftp://[2001:2:0:8000::2]:6021
page=$folder/www/octets

# gets NAME SIZE COMMAND...: what the command writes to FOLDER/got is what our server sends
gets() {
	local name=$1 size=$2
	shift 2
	rm -f "$folder/got"
	if timeout 120 "$@" 2>"$folder/peer.log" &&
		cmp "$folder/got" "$page/$size" 2>>"$folder/peer.log"; then
		echo "ok - $name gets $size bytes"
	else
		echo "not ok - $name gets $size bytes"
		tail -n 30 "$folder/peer.log" | sed 's/^/# /'
	fi
}

# puts NAME COMMAND...
puts() {
	local name=$1
	shift
	if timeout 120 "$@" >"$folder/peer.log" 2>&1; then
		echo "ok - $name puts a file"
	else
		echo "not ok - $name puts a file"
		tail -n 30 "$folder/peer.log" | sed 's/^/# /'
	fi
}

{
	curl=(curl --silent --show-error --verbose --output "$folder/got")
	gets "curl by EPSV" 20000 "${curl[@]}" "$four/octets/20000"
	gets "curl by PASV" 8000000 "${curl[@]}" --disable-epsv "$four/octets/8000000"
	gets "curl by EPRT" 20000 "${curl[@]}" --ftp-port - "$four/octets/20000"
	gets "curl by PORT" 1000 "${curl[@]}" --ftp-port - --disable-eprt "$four/octets/1000"
	gets "curl by EPSV over IPv6" 20000 "${curl[@]}" --globoff "$six/octets/20000"
	gets "curl by EPRT over IPv6" 1000 "${curl[@]}" --globoff --ftp-port - "$six/octets/1000"
	wget=(wget --verbose --tries=1 --output-document="$folder/got")
	gets "wget by PASV" 20000 "${wget[@]}" "$four/octets/20000"
	gets "wget by PORT" 8000000 "${wget[@]}" --no-passive-ftp "$four/octets/8000000"
	gets "wget by EPSV over IPv6" 20000 "${wget[@]}" "$six/octets/20000"
	resumed="head -c 7000 ${page@Q}/20000 >${folder@Q}/got &&"
	gets "curl by REST" 20000 sh -c "$resumed ${curl[*]@Q} --continue-at - $four/octets/20000"
	gets "wget by REST" 20000 sh -c "$resumed ${wget[*]@Q} --continue $four/octets/20000"
	puts "curl by EPSV" curl -sSv --upload-file "$folder/client" "$four/up/20000"
	puts "curl by PORT" curl -sSv --ftp-port - --disable-eprt --upload-file "$folder/client" \
		"$four/up/20000"
	puts "curl by EPSV over IPv6" curl -sSv --globoff --upload-file "$folder/client" "$six/up/20000"
} >"$folder/peers.part" 2>"$folder/peers.log"
mv "$folder/peers.part" "$folder/peers"
