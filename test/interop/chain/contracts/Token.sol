// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// A token with signed transfers (ERC-3009) as USDC has them, and a tap.
contract Token {
    string public constant name = "USDC";
    string public constant version = "2";
    uint8 public constant decimals = 6;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => mapping(bytes32 => bool)) public authorizationState;
    event Transfer(address indexed from, address indexed to, uint256 value);
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);

    bool public paused;
    /// Of the real one, its issuer's only.
    function pause(bool on) external { paused = on; }
    function mint(address to, uint256 value) external { balanceOf[to] += value; }
    function approve(address spender, uint256 value) external returns (bool) { allowance[msg.sender][spender] = value; return true; }
    function transfer(address to, uint256 value) external returns (bool) { move(msg.sender, to, value); return true; }
    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        allowance[from][msg.sender] -= value; move(from, to, value); return true;
    }
    function move(address from, address to, uint256 value) private {
        require(!paused, "Pausable: paused");
        require(balanceOf[from] >= value, "ERC20: transfer amount exceeds balance");
        balanceOf[from] -= value; balanceOf[to] += value; emit Transfer(from, to, value);
    }
    /// The real one asks for a signature.
    function cancelAuthorization(bytes32 nonce) external {
        require(!authorizationState[msg.sender][nonce], "FiatTokenV2: authorization is used or canceled");
        authorizationState[msg.sender][nonce] = true; emit AuthorizationCanceled(msg.sender, nonce);
    }
    function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external {
        require(block.timestamp > validAfter && block.timestamp < validBefore, "FiatTokenV2: authorization is not valid now");
        require(!authorizationState[from][nonce], "FiatTokenV2: authorization is used or canceled");
        bytes32 domain = keccak256(abi.encode(keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"), keccak256(bytes(name)), keccak256(bytes(version)), block.chainid, address(this)));
        bytes32 what = keccak256(abi.encode(keccak256("TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"), from, to, value, validAfter, validBefore, nonce));
        require(ecrecover(keccak256(abi.encodePacked("\x19\x01", domain, what)), v, r, s) == from, "FiatTokenV2: invalid signature");
        authorizationState[from][nonce] = true;
        emit AuthorizationUsed(from, nonce);
        move(from, to, value);
    }
}
