echo "of-a-spec-$$" > name
