[(block) (arguments) (brackets)] @fold
