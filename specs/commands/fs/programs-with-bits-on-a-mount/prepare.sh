mkdir given
cp /usr/bin/id given/id
# As root that is root's program; as anybody else it is nobody's, and there is nothing to gain.
chmod 4755 given/id
printf '#!/bin/sh\nexec /srv/ro/id -u\n' > given/whoever
chmod 755 given given/whoever
