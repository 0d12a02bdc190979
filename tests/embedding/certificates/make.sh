#!/bin/sh
# Makes the certificates beside this script anew: `sh make.sh`. They are for tests alone, and
# their one key protects nothing. All but `expired.pem` hold until the year 2119.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
openssl ecparam -name prime256v1 -genkey -noout -out "$work/key"
: >"$work/index"
cat >"$work/conf" <<END
[ca]
default_ca = authority
[authority]
database = $work/index
new_certs_dir = $work
rand_serial = yes
unique_subject = no
default_md = sha256
policy = any
x509_extensions = authority_itself
[any]
commonName = supplied
[authority_itself]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
END

# certify FILE COMMON_NAME NAMES ENDS OPTION...
certify() {
    file=$1 name=$2 names=$3 ends=$4
    shift 4
    openssl req -new -key "$work/key" -subj "/CN=$name" -out "$work/request" -batch
    printf '%s\n' 'basicConstraints = CA:FALSE' 'subjectKeyIdentifier = hash' \
        'authorityKeyIdentifier = keyid' "subjectAltName = $names" >"$work/names"
    openssl ca -batch -notext -config "$work/conf" -in "$work/request" -out "$work/made" \
        -keyfile "$work/key" -startdate 20200101000000Z -enddate "$ends" "$@"
    cat "$work/made" >"$file"
}

here=DNS:localhost,IP:127.0.0.1
far=21190101000000Z
certify authority.pem "an authority for tests" "" "$far" -selfsign
leaf="-cert authority.pem -extfile $work/names"
# shellcheck disable=SC2086
{
    certify right.pem right "$here" "$far" $leaf
    certify wrong_host.pem "wrong host" DNS:elsewhere.example "$far" $leaf
    certify expired.pem expired "$here" 20210101000000Z $leaf
}
certify self_signed.pem "self-signed" "$here" "$far" -selfsign -extfile "$work/names"
for file in right wrong_host expired self_signed; do
    cat "$work/key" >>"$file.pem"
done
