# Stands in for sendmail: writes the message on standard input into a file of the folder named first.
exec cat > "$(mktemp "$1/mail-XXXXXXXX")"
